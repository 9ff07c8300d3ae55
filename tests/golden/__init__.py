"""What must not change while the code behind it is moved and rebuilt; README.md says how to renew it."""
