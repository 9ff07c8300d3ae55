"""The service over HTTP: the REST API and the dashboard's built files. Only this part knows HTTP status codes."""
