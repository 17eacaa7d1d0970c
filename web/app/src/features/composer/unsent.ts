/** Messages that were not sent yet outlive the page. */
import type { Keeping } from '@majlis/client'

const KEY = 'majlis.unsent'

export const unsent: Keeping = {
  load() {
    try {
      return JSON.parse(localStorage.getItem(KEY) ?? '{}') as ReturnType<Keeping['load']>
    } catch {
      return {}
    }
  },
  save(sending) {
    const waiting = Object.entries(sending).filter(([, list]) => list.length > 0)
    if (waiting.length === 0) localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, JSON.stringify(Object.fromEntries(waiting)))
  },
}
