"""What pytest must not import here: it needs LensKit."""

collect_ignore = ["battery.py", "lenskit_data.py", "list_battery.py"]
