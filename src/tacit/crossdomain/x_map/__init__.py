"""X-Map, stage by stage: baseliner, extender, generator, private selection, strict map."""
