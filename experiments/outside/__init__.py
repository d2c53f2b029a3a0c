"""The default on data that had no part in its design, against what people do."""
