"""Detection of attention: from each softmax back to Q K^T and forward to P V, on axis labels."""
