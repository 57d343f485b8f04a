"""The nouns of pvc: frozen values, legal once built. Pure: nothing here touches an edge."""
