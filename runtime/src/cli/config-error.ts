// Owns the error of a configuration that can't be used: its message names the place and what would be right.

export class ConfigError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ConfigError'
  }
}
