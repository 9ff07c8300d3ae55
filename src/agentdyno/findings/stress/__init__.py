"""What a load run says about its target."""
