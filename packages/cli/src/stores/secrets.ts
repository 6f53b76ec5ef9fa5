/** `scheme://user:password@`, including passwords with characters that should be encoded. */
const inAddress = /\b([a-z][a-z0-9+.-]*:\/\/[^\s:@/]*):\S*@/gi
/** Without quotes around it a password ends as in a connection string; it may contain quotes. */
const named =
  /\b((?:ssl)?password|passwd|pwd|pgpassword)(\s*[=:]\s*)("[^"]*"|'(?:[^'\\]|\\.)*'|[^\s&;,'")][^\s&]*)/gi

/** The text without the passwords that are recognized by their position. */
export function withoutPasswords(text: string): string {
  return text.replaceAll(inAddress, '$1:***@').replaceAll(named, '$1$2***')
}

/** The minimum length of a secret; a shorter text would match everywhere. */
const shortest = 3

/** The texts that this run must never print. */
export class Secrets {
  readonly #texts = new Set<string>()

  /** Adds a secret, in every form in which it can appear. */
  add(secret: string | undefined): void {
    if (secret === undefined) return
    for (const text of [secret, decoded(secret), encodeURIComponent(secret)]) {
      if (text.length >= shortest) this.#texts.add(text)
    }
  }

  /** Adds the password of an address, unless it also occurs elsewhere in the address. */
  addFrom(address: string): void {
    const [, user, password] = /^[a-z][a-z0-9+.-]*:\/\/([^\s:@/]*):(.*)@/i.exec(address) ?? []
    const rest = password === undefined ? address : address.replace(`:${password}@`, '@')
    for (const secret of [password, ...passwordsIn(rest)]) {
      if (secret === undefined || secret === user) continue
      if (!rest.replaceAll(named, '').includes(secret)) this.add(secret)
    }
  }

  /** The text without any secret. */
  redact(text: string): string {
    let redacted = withoutPasswords(text)
    // The longest first: one secret may be a prefix of another.
    for (const secret of [...this.#texts].sort((a, b) => b.length - a.length)) {
      redacted = redacted.replaceAll(secret, '***')
    }
    return redacted
  }
}

function passwordsIn(text: string): string[] {
  return [...text.matchAll(named)].map(([, , , value = '']) => value.replaceAll(/^["']|["']$/g, ''))
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
