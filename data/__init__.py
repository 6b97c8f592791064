"""Self-play, records and data sets. pyarrow and Numba are imported where they are used."""

from evallearn.data.dataset import Batch, Dataset
from evallearn.data.generate import SelfPlayConfig, play_game, run_selfplay
from evallearn.data.manifest import Manifest, read_manifest, rebuild_manifest
from evallearn.data.origin import Origin
from evallearn.data.records import Record, ShardInfo, read_shard, write_shard

__all__ = [
    "Batch",
    "Dataset",
    "Manifest",
    "Origin",
    "Record",
    "SelfPlayConfig",
    "ShardInfo",
    "play_game",
    "read_manifest",
    "read_shard",
    "rebuild_manifest",
    "run_selfplay",
    "write_shard",
]
