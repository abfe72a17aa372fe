"""Other packages' names for what is here, so that their programs run."""
