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
  for (const [name, value] of Object.entries(session)) passed.set(name, value)
  return Object.fromEntries(passed)
}

/** What is wrong with a session's `env`, each with the variable's name; values are never repeated. */
export function environmentFaults(session: Readonly<Record<string, string>>): { path: string; message: string }[] {
  return Object.entries(session).flatMap(([name, value]) => {
    if (name === '' || /[=\0]/.test(name))
      return [{ path: `env.${name}`, message: 'a variable\'s name must be without "=" and NUL, and not empty' }]
    return value.includes('\0') ? [{ path: `env.${name}`, message: "a variable's value must be without NUL" }] : []
  })
}
