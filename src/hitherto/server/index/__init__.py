"""What the server keeps beside the store's tables: documents' versions and the statistics of their words."""
