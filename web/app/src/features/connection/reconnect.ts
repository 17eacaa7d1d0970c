import type { Store } from '@majlis/client'

/** Reconnects when the network returns or the tab becomes visible; the connection itself notices neither. */
export function reconnectOnWake(store: Store): void {
  addEventListener('online', () => store.reconnect())
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') store.reconnect()
  })
}
