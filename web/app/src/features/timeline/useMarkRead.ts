import type { SpaceState } from '@majlis/client'
import { useStore } from '@majlis/client/react'
import { useCallback, useEffect, useState } from 'react'

import { usePageFocus } from '../../ui/usePageFocus.ts'
import type { Row } from './rows.ts'
import { addRange, countUnseen, seenUpTo, type Ranges } from './seenRanges.ts'
import type { Virtual } from './useStickToBottom.ts'

/** A message counts as seen when its end is this close to the screen, in pixels. */
const NEAR_PX = 16

/** The messages that were on the screen in this session, by space. */
const seen = new Map<string, Ranges>()

export interface Unseen {
  above: number
  below: number
}

/**
 * Marks messages as read when they have been on the screen while the page had the focus, without a gap since the last
 * read one. Counts the messages above and below the screen that have not.
 */
export function useMarkRead(virtual: Virtual, rows: readonly Row[], space: SpaceState): { unseen: Unseen; check: () => void } {
  const store = useStore()
  const focused = usePageFocus()
  const [unseen, setUnseen] = useState<Unseen>({ above: 0, below: 0 })
  const { history, headSeq, seenSeq } = space
  const id = space.facts.id
  const check = useCallback(() => {
    const shown = shownRange(virtual, rows)
    if (!history || !shown) return
    const known = seen.get(id) ?? []
    const ranges = focused ? addRange(known, shown[0], shown[1]) : known
    seen.set(id, ranges)
    const upTo = seenUpTo(ranges, seenSeq)
    const last = history.findLast((message) => message.seq <= upTo)
    if (focused && last && last.seq > seenSeq) store.readPositions.markRead(last)
    const next = { above: countUnseen(ranges, upTo + 1, shown[0] - 1), below: countUnseen(ranges, Math.max(upTo, shown[1]) + 1, headSeq) }
    setUnseen((before) => (before.above === next.above && before.below === next.below ? before : next))
  }, [virtual, rows, store, focused, history, headSeq, seenSeq, id])
  useEffect(() => {
    // After the rows have been measured and scrolled into place.
    const frame = requestAnimationFrame(check)
    return () => cancelAnimationFrame(frame)
  }, [check])
  return { unseen, check }
}

/** The numbers of the first and the last message whose end is on the screen. */
function shownRange(virtual: Virtual, rows: readonly Row[]): [number, number] | null {
  const box = virtual.scrollElement
  if (!box) return null
  const [top, bottom] = [box.scrollTop - offsetOf(box), box.scrollTop - offsetOf(box) + box.clientHeight + NEAR_PX]
  const items = virtual.getVirtualItems().filter((item) => item.end > top && item.end <= bottom && rows[item.index]?.kind === 'message')
  const [first, last] = [items[0], items.at(-1)]
  if (!first || !last) return null
  return [seqOf(rows, first.index), lastSeqOf(rows, last.index)]
}

/** The rows start lower than the box while they do not fill it. */
const offsetOf = (box: HTMLElement): number => (box.firstElementChild as HTMLElement | null)?.offsetTop ?? 0

const seqOf = (rows: readonly Row[], n: number): number => {
  const row = rows[n]
  return row?.kind === 'message' ? row.message.seq : 0
}

/** Messages without a row of their own, such as notices, belong to the row before them. */
function lastSeqOf(rows: readonly Row[], n: number): number {
  const row = rows[n]
  return row?.kind === 'message' ? row.lastSeq : 0
}
