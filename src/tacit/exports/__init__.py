"""Published models in formats of other tools: ONNX, safetensors, Parquet, and a model card."""
