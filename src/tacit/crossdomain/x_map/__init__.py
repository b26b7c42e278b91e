"""X-Map, stage by stage: baseliner, extender, generator, private selections, and the strict map."""
