// Owns the runtime's version, as its package says it.

export const VERSION = '0.1.0'
