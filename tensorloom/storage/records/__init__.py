"""TFRecord files, event files and summary databases."""
