"""What stored results say: a folder per conclusion, with its model, judgement, words, tables and questions."""
