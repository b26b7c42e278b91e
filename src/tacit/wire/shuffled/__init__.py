"""Wire formats of shuffled messages: tasks, and the public list of a shuffler's tasks."""
