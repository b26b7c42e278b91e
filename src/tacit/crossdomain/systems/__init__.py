"""Cross-domain systems other than X-Map: baselines, neighborhoods, merged domains, taste maps."""
