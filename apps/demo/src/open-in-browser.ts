import { spawn } from 'node:child_process'

/** Opens an address in the user’s browser, if there is one. */
export function openInBrowser(address: string): void {
  const [command, ...args] = opener(process.platform)
  const child = spawn(command, [...args, address], { stdio: 'ignore', detached: true })
  // The address has been printed; a user without a browser here can open it elsewhere.
  child.on('error', () => undefined)
  child.unref()
}

function opener(platform: NodeJS.Platform): [string, ...string[]] {
  if (platform === 'darwin') return ['open']
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return ['xdg-open']
}
