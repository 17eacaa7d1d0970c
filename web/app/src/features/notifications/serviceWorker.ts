/** The service worker: it shows notifications, and a page of its own while the server cannot be reached. */
import { go } from '../../router.ts'

export function registerWorker(): void {
  // Browsers have it only on https and on this computer. The development server has none.
  if (!('serviceWorker' in navigator) || !import.meta.env.PROD) return
  navigator.serviceWorker.register('/service-worker.js').catch(() => {})
  navigator.serviceWorker.addEventListener('message', (event: MessageEvent<{ open?: string }>) => {
    if (event.data.open) go(event.data.open)
  })
}

/** Null until it is installed. */
export const activeWorker = async (): Promise<ServiceWorker | null> => {
  const registration = 'serviceWorker' in navigator ? await navigator.serviceWorker.getRegistration() : undefined
  return registration?.active ?? null
}
