"""kata: practise CUDA interview questions and be told the truth about your kernel."""
