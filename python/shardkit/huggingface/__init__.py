"""Models of Hugging Face's transformers, by their configuration and the names of their checkpoint: no weight is made."""
