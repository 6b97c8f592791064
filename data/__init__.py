"""Self-play, records and data sets. pyarrow and Numba are imported where they are used."""

from evallearn.data.dataset import Batch as Batch
from evallearn.data.dataset import Dataset as Dataset
from evallearn.data.generate import RecordSettings as RecordSettings
from evallearn.data.generate import generate_records as generate_records
from evallearn.data.generate import play_game as play_game
from evallearn.data.manifest import Manifest as Manifest
from evallearn.data.manifest import read_manifest as read_manifest
from evallearn.data.manifest import rebuild_manifest as rebuild_manifest
from evallearn.data.origin import Origin as Origin
from evallearn.data.shards import Record as Record
from evallearn.data.shards import ShardInfo as ShardInfo
from evallearn.data.shards import read_shard as read_shard
from evallearn.data.shards import write_shard as write_shard
