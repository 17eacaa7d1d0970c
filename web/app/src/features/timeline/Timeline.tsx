import { hasLater, type Message, type SpaceState } from '@majlis/client'
import { useMessages, useMe, useStore, useStreams } from '@majlis/client/react'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useMemo, useRef, useState } from 'react'

import { EmptySpace } from './EmptySpace.tsx'
import { LiveRegion } from './LiveRegion.tsx'
import { RowView } from './RowView.tsx'
import { rowsOf, type Row } from './rows.ts'
import { JumpToUnread } from './JumpToUnread.tsx'
import { JumpToLatest } from './JumpToLatest.tsx'
import { useLoadMore } from './useLoadMore.ts'
import { AT_END, useStickToBottom, useOwnWords, useResized } from './useStickToBottom.ts'
import { useJump } from './useJump.ts'
import { useNewMarker } from './useNewMarker.ts'
import { useMarkRead } from './useMarkRead.ts'

interface Props {
  space: SpaceState
  messageId: string | null
  onReply: (message: Message) => void
}

/** The history of a space: only what is seen is in the page, and what is seen stays where it is whatever comes above or below. */
export function Timeline({ space, messageId, onReply }: Props) {
  const store = useStore()
  const me = useMe()!
  const spaceId = space.facts.id
  const { history, sending } = useMessages(spaceId)
  const streams = useStreams(spaceId)
  const newAfter = useNewMarker(space)
  const [lastRead] = useState(space.lastSeenMessageId)
  const whole = history !== null && !hasLater(history, space.headSeq)
  const rows = useMemo(
    () => rowsOf(history ?? [], whole ? sending : [], whole ? streams : [], newAfter, me.id),
    [history, sending, streams, whole, newAfter, me.id],
  )
  const names = useNames(space)
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (n) => estimate(rows[n]),
    getItemKey: (n) => rows[n]?.key ?? n,
    anchorTo: 'end',
    scrollEndThreshold: AT_END,
    overscan: 8,
    paddingStart: 24,
    paddingEnd: 12,
  })
  // Also while one scrolls up: a row above that turns out higher than was guessed must not push what is being read.
  virtual.shouldAdjustScrollPositionOnItemSizeChange = (item, _, { scrollOffset }) => item.end <= (scrollOffset ?? 0)
  const { atEnd, onScroll } = useLoadMore(virtual, store, space, whole)
  const following = useStickToBottom(virtual, virtual.getTotalSize(), whole)
  const { target, astray } = useJump(virtual, rows, store, spaceId, messageId, newAfter, following)
  useOwnWords(sending.at(-1), () => void toNewest())
  useMarkRead(whole && atEnd ? (history?.at(-1) ?? null) : null)

  const empty = history?.length === 0 && rows.length === 0
  useResized(virtual, !empty, () => {
    following.toEnd()
    onScroll()
  })

  if (empty) return <EmptySpace space={space} />
  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={scroller}
        tabIndex={0}
        role="group"
        aria-label="Messages"
        aria-busy={history === null}
        className="flex h-full flex-col overflow-y-auto overscroll-contain outline-offset-[-2px] [overflow-anchor:none]"
        onScroll={() => {
          following.onScroll()
          onScroll()
        }}
      >
        <div role="list" className="relative mx-auto mt-auto w-full max-w-column shrink-0" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index]!
            return (
              <div
                key={item.key}
                ref={virtual.measureElement}
                data-index={item.index}
                role="listitem"
                aria-setsize={rows.length}
                aria-posinset={item.index + 1}
                className="absolute inset-x-0 top-0 px-3 md:px-6"
                style={{ transform: `translateY(${item.start}px)` }}
              >
                <RowView row={row} space={space} names={names} target={target === row.key} onReply={onReply} />
              </div>
            )
          })}
        </div>
      </div>
      {astray && <p role="status" className="absolute inset-x-0 top-3 mx-auto w-fit rounded-full border border-line bg-paper-high px-4 py-1.5 text-small text-ink-soft shadow-low">The message of this link is not in this space.</p>}
      {newAfter !== null && history?.[0] && history[0].seq > newAfter + 1 && (
        <JumpToUnread spaceId={spaceId} lastRead={lastRead} newAfter={newAfter} count={history[0].seq - newAfter - 1} />
      )}
      {!(whole && atEnd) && <JumpToLatest space={space} behind={!whole} onGo={() => void toNewest()} />}
      <LiveRegion spaceId={spaceId} />
    </div>
  )

  async function toNewest() {
    // Without a connection one stays where one is; what was written waits, and is seen when it is said.
    if (!whole) await store.loading.newest(spaceId).catch(() => {})
    store.flush()
    following.begin()
  }
}

function useNames(space: SpaceState): readonly string[] {
  const joined = space.members.map((member) => member.name).join('\n')
  return useMemo(() => joined.split('\n'), [joined])
}

function estimate(row: Row | undefined): number {
  if (row?.kind === 'message') return (row.first ? 44 : 12) + 26 * Math.max(1, Math.ceil(row.message.text.length / 85))
  return 48
}
