"""Systems beside X-Map: floors, neighbours, merged domains, tastes."""
