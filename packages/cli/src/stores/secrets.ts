/** `scheme://user:password@`, also where the password holds what a careful writer would encode. */
const inAddress = /\b([a-z][a-z0-9+.-]*:\/\/[^\s:@/]*):\S*@/gi
const named =
  /\b((?:ssl)?password|passwd|pwd|pgpassword)(\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s&;,'")]+)/gi

/** Text without the passwords that can be told by their place alone. */
export function withoutPasswords(text: string): string {
  return text.replaceAll(inAddress, '$1:***@').replaceAll(named, '$1$2***')
}

/** Fewer characters are no secret, and would turn up everywhere. */
const shortest = 3

/** What this run must never show, wherever it turns up. */
export class Secrets {
  readonly #texts = new Set<string>()

  /** Notes a text that is secret, in every form in which it may turn up. */
  add(secret: string | undefined): void {
    if (secret === undefined) return
    for (const text of [secret, decoded(secret), encodeURIComponent(secret)]) {
      if (text.length >= shortest) this.#texts.add(text)
    }
  }

  /** Notes the password of an address, unless it is a word that stands elsewhere in it, too. */
  addFrom(address: string): void {
    const [, user, password] = /^[a-z][a-z0-9+.-]*:\/\/([^\s:@/]*):(.*)@/i.exec(address) ?? []
    const rest = password === undefined ? address : address.replace(`:${password}@`, '@')
    for (const secret of [password, ...passwordsIn(rest)]) {
      if (secret === undefined || secret === user) continue
      if (!rest.replaceAll(named, '').includes(secret)) this.add(secret)
    }
  }

  /** The text without any of them. */
  redact(text: string): string {
    let redacted = withoutPasswords(text)
    // The longest first: one may be the beginning of another.
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
