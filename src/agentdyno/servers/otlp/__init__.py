"""OpenTelemetry traces over OTLP/HTTP: received, decoded, and turned into trajectories."""
