"""What people say of answers, and how far judges agree with them."""
