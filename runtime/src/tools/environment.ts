// Owns which variables reach the processes that tools start: an allow-list, and what the session names. Refuses all else (FR-7).

const allowed = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TERM', 'TMPDIR', 'TZ'],
  ...['LANG', 'LANGUAGE', 'LC_ALL', 'LC_ADDRESS', 'LC_COLLATE', 'LC_CTYPE', 'LC_IDENTIFICATION', 'LC_MEASUREMENT', 'LC_MESSAGES'],
  ...['LC_MONETARY', 'LC_NAME', 'LC_NUMERIC', 'LC_PAPER', 'LC_TELEPHONE', 'LC_TIME'],
  // Where things are: folders of the desktop's, of certificates and of toolchains. None of them holds a secret itself.
  ...['XDG_CACHE_HOME', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME', 'XDG_RUNTIME_DIR'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS'],
  ...['JAVA_HOME', 'GOPATH', 'CARGO_HOME', 'RUSTUP_HOME', 'NVM_DIR', 'PYENV_ROOT', 'VIRTUAL_ENV', 'CONDA_PREFIX'],
]

/** Where programs are looked for if the runtime's own PATH names no place. */
const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin'

/** The system's limit for one variable, with its NUL; and for all of a session's, well below what it takes for a whole environment. */
const MAX_VARIABLE_BYTES = 128 * 1024 - 1
const MAX_BYTES = 1024 * 1024

/**
 * The whole environment of a tool's process: the allowed variables of the runtime's own, then the session's `env`, which
 * wins. A key or token passes only where the session names it, with its value. Proxies are not on the list either: their
 * addresses may hold a password.
 */
export function toolEnvironment(
  own: Readonly<Record<string, string | undefined>>,
  session: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const passed = new Map<string, string>()
  for (const name of allowed) {
    const value = own[name]
    if (value !== undefined) passed.set(name, value)
  }
  passed.set('PATH', searchPath(own.PATH))
  for (const [name, value] of Object.entries(session)) passed.set(name, value)
  return Object.fromEntries(passed)
}

/** Only places that are the same from every directory: by any other, a workspace could put its own program before the system's. */
export function searchPath(own: string | undefined): string {
  const places = (own ?? '').split(':').filter((place) => place.startsWith('/'))
  return places.length === 0 ? DEFAULT_PATH : places.join(':')
}

/** What is wrong with a session's `env`, each with the variable's name; values are never repeated. */
export function environmentFaults(session: Readonly<Record<string, string>>): { path: string; message: string }[] {
  const variables = Object.entries(session)
  const sizes = variables.map(([name, value]) => Buffer.byteLength(name) + 1 + Buffer.byteLength(value))
  const total = sizes.reduce((sum, size) => sum + size + 1, 0)
  const faults = variables.flatMap(([name, value], index) => {
    const message = variableFault(name, value, sizes[index] ?? 0)
    return message === undefined ? [] : [{ path: `env.${name.slice(0, 100)}`, message }]
  })
  if (total <= MAX_BYTES) return faults
  return [...faults, { path: 'env', message: `too large: at most ${MAX_BYTES} bytes of names and values, got ${total}` }]
}

function variableFault(name: string, value: string, size: number): string | undefined {
  if (name === '' || /[=\0]/.test(name)) return 'a variable\'s name must be without "=" and NUL, and not empty'
  if (value.includes('\0')) return "a variable's value must be without NUL"
  if (/\p{Surrogate}/u.test(name + value)) return 'a variable has half of a surrogate pair in it, which is no character'
  if (size > MAX_VARIABLE_BYTES) return `too long: a variable's name and value have at most ${MAX_VARIABLE_BYTES} bytes, got ${size}`
  return undefined
}
