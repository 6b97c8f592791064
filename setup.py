"""The package map: search/, games/, data/ and train/ at the top of the repo are installed under evallearn."""

from setuptools import find_packages, setup

FOLDERS = ("search", "games", "data", "train")


def packages(folder: str, name: str, leave_out: tuple[str, ...] = ()) -> list[str]:
    return [name, *(f"{name}.{sub}" for sub in find_packages(folder, exclude=leave_out))]


setup(
    packages=packages("evallearn", "evallearn", FOLDERS)  # there they are links
    + [p for folder in FOLDERS for p in packages(folder, f"evallearn.{folder}")],
    package_data={
        "evallearn": [
            "__init__.pyi",
            "py.typed",
            "report/page.*",
            "runs/recipes/*.toml",
            "zoo/*/*.safetensors",
            "zoo/*/*.json",
        ]
    },
    package_dir={"evallearn": "evallearn"} | {f"evallearn.{folder}": folder for folder in FOLDERS},
)
