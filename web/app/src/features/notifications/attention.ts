/** Only one tab of a browser shows notifications, and none does while the user looks at any of them. */

const LOOKED_AT = 'majlis.looked-at'
const SHOWS = 'majlis.shows-notifications'

export const looking = (): boolean => document.visibilityState === 'visible' && document.hasFocus()

let shows = false
let release: (() => void) | null = null

/** The browser ends locks with their tab, also when it crashes. */
export function watchAttention(): void {
  if (!('locks' in navigator)) return void (shows = true)
  void navigator.locks.request(SHOWS, () => {
    shows = true
    return new Promise(() => {})
  })
  updateLookedAt()
  document.addEventListener('visibilitychange', updateLookedAt)
  addEventListener('focus', updateLookedAt)
  addEventListener('blur', updateLookedAt)
}

export async function mayNotify(): Promise<boolean> {
  if (!shows || looking()) return false
  if (!('locks' in navigator)) return true
  const { held = [] } = await navigator.locks.query()
  return !held.some((lock) => lock.name === LOOKED_AT)
}

function updateLookedAt(): void {
  if (looking() === (release !== null)) return
  release?.()
  release = null
  if (!looking()) return
  const done = new Promise<void>((resolve) => (release = resolve))
  // Shared: the next tab gets it before this one has let go.
  void navigator.locks.request(LOOKED_AT, { mode: 'shared' }, () => done)
}
