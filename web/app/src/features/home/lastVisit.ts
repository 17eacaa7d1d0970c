/** When the person was last here, in this browser. */
import { useEffect } from 'react'

import { loadItem, saveItem } from '../../ui/storage.ts'

/** A shorter absence, such as a reload, does not count. */
const AWAY_MS = 30 * 60_000
const DAY = 86_400_000
const SAVE_MS = 60_000

interface Visit {
  /** The last moment at which the app was on the screen. */
  left: number
  /** The end of the visit before. */
  since: number
}

/** The end of the visit before this one; a day ago on the first visit. */
export const awaySince = (me: string): number => load(me)?.since ?? Date.now() - DAY

/** Remembers that the person is here, while they can see the app. */
export function useVisit(me: string | undefined): void {
  useEffect(() => {
    if (!me) return
    const note = () => {
      if (document.visibilityState === 'visible') saveItem(keyOf(me), JSON.stringify(following(load(me), Date.now())))
    }
    note()
    const timer = setInterval(note, SAVE_MS)
    addEventListener('visibilitychange', note)
    return () => {
      clearInterval(timer)
      removeEventListener('visibilitychange', note)
    }
  }, [me])
}

export function following(known: Visit | null, now: number): Visit {
  const since = !known ? now - DAY : now - known.left > AWAY_MS ? known.left : known.since
  return { left: now, since }
}

const keyOf = (me: string): string => `majlis.visit.${me}`

function load(me: string): Visit | null {
  try {
    return JSON.parse(loadItem(keyOf(me)) ?? 'null') as Visit | null
  } catch {
    return null
  }
}
