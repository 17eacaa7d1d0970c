/** The browser's offer to install the app. Browsers that make none have a menu entry of their own. */
import { useSyncExternalStore } from 'react'

interface InstallOffer extends Event {
  prompt: () => Promise<unknown>
}

let offer: InstallOffer | null = null
const listeners = new Set<() => void>()

addEventListener('beforeinstallprompt', (event) => {
  event.preventDefault()
  keep(event as InstallOffer)
})
addEventListener('appinstalled', () => keep(null))

const install = (): void => {
  void offer?.prompt()
  // An offer works once.
  keep(null)
}

export const useInstall = (): (() => void) | null => useSyncExternalStore(subscribe, () => offer !== null) ? install : null

function keep(changed: InstallOffer | null): void {
  offer = changed
  listeners.forEach((each) => each())
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
