"""C++ core of farfield."""
