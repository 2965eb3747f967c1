"""Every algorithm again, written as the papers write it, importing nothing from the package."""
