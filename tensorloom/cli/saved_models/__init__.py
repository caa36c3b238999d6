"""The commands about SavedModels: TensorFlow's saved_model_cli, and what it does."""
