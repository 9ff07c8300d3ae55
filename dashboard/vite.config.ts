import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const SERVER = "http://127.0.0.1:8321";

export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "../src/agentdyno/web/static",
    emptyOutDir: true,
    // The Content-Security-Policy allows neither data: addresses nor inline scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 800,
    target: "es2022",
  },
  server: {
    proxy: Object.fromEntries(
      ["/api", "/benchmarks", "/health", "/ready", "/metrics", "/docs", "/openapi.json"].map((path) => [path, SERVER]),
    ),
  },
});
