import { hasLater, type Message, type SpaceState } from '@majlis/client'
import { useMessages, useMe, useStore, useStreams } from '@majlis/client/react'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useMemo, useRef, useState } from 'react'

import { t } from '../../language/words.ts'
import { heightOf } from '../files/pictureSize.ts'
import { countReplies } from '../threads/replies.ts'
import { EmptySpace } from './EmptySpace.tsx'
import { JumpToLatest } from './JumpToLatest.tsx'
import { JumpToUnread } from './JumpToUnread.tsx'
import { LiveRegion } from './LiveRegion.tsx'
import { Loading } from './Loading.tsx'
import { RowView } from './RowView.tsx'
import { isMany, linesIn } from './longText.ts'
import { rowsOf, type Row } from './rows.ts'
import { useJump } from './useJump.ts'
import { useLoadMore } from './useLoadMore.ts'
import { useMarkRead } from './useMarkRead.ts'
import { useNewMarker } from './useNewMarker.ts'
import { BOTTOM_PX, useResize, useShowOwnMessage, useStickToBottom } from './useStickToBottom.ts'

interface Props {
  space: SpaceState
  messageId: string | null
  onReply: (message: Message) => void
}

/** The history of a space. Only visible rows are rendered, and they keep their place when rows above or below change. */
export function Timeline({ space, messageId, onReply }: Props) {
  const store = useStore()
  const me = useMe()!
  const spaceId = space.facts.id
  const { history, outgoing } = useMessages(spaceId, 'unread')
  const streams = useStreams(spaceId)
  const newAfter = useNewMarker(space)
  const [openFrom] = useState(space.headSeq)
  const complete = history !== null && !hasLater(history, space.headSeq)
  const rows = useMemo(
    () => rowsOf(history ?? [], complete ? outgoing : [], complete ? streams : [], newAfter, me.id),
    [history, outgoing, streams, complete, newAfter, me.id],
  )
  const replies = useMemo(() => countReplies(history ?? []), [history])
  const names = useNames(space)
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (n) => estimate(rows[n], openFrom),
    getItemKey: (n) => rows[n]?.key ?? n,
    anchorTo: 'end',
    scrollEndThreshold: BOTTOM_PX,
    overscan: 8,
    paddingStart: 24,
    paddingEnd: 12,
  })
  // Rows above that turn out taller than estimated must not move the visible rows, even while the reader scrolls up.
  virtual.shouldAdjustScrollPositionOnItemSizeChange = (item, _, { scrollOffset }) => item.end <= (scrollOffset ?? 0)
  const { atBottom, onScroll } = useLoadMore(virtual, store, space, complete)
  const bottom = useStickToBottom(virtual, virtual.getTotalSize(), complete)
  const { target, notFound } = useJump(virtual, rows, store, spaceId, messageId, newAfter, bottom)
  useShowOwnMessage(outgoing.at(-1), () => void toLatest())
  const { unseen, check } = useMarkRead(virtual, rows, space)

  const empty = history?.length === 0 && rows.length === 0
  useResize(virtual, !empty, () => {
    bottom.toBottom()
    onScroll()
  })

  if (empty) return <EmptySpace space={space} />
  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={scroller}
        tabIndex={0}
        role="group"
        data-messages
        aria-label={t('Messages')}
        aria-busy={history === null}
        className="flex h-full flex-col overflow-y-auto overscroll-contain outline-offset-[-2px] [overflow-anchor:none]"
        onScroll={() => {
          bottom.onScroll()
          onScroll()
          check()
        }}
      >
        <div role="list" className="relative mx-auto mt-auto w-full max-w-messages shrink-0" style={{ height: virtual.getTotalSize() }}>
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
                <RowView row={row} space={space} names={names} target={target === row.key} openFrom={openFrom} replies={row.kind === 'message' ? (replies.get(row.message.id) ?? 0) : 0} partly={!complete} onReply={onReply} />
              </div>
            )
          })}
        </div>
      </div>
      {!history && <Loading />}
      {notFound && <p role="status" className="absolute inset-x-0 top-3 mx-auto w-fit rounded-full border border-line bg-paper-high px-4 py-1.5 text-small text-ink-soft shadow-low">{t('The linked message is not in this space.')}</p>}
      {history && unseen.above > 0 && <JumpToUnread space={space} count={unseen.above} />}
      {history && !(complete && atBottom) && <JumpToLatest count={unseen.below} onGo={() => void toLatest()} />}
      <LiveRegion spaceId={spaceId} />
    </div>
  )

  async function toLatest() {
    // Stay here while offline.
    if (!complete) await store.loader.newest(spaceId).catch(() => {})
    store.flush()
    bottom.stick()
  }
}

function useNames(space: SpaceState): readonly string[] {
  const joined = space.members.map((member) => member.name).join('\n')
  return useMemo(() => joined.split('\n'), [joined])
}

const FOLDED_PX = 540

function estimate(row: Row | undefined, openFrom: number): number {
  if (row?.kind !== 'message') return 48
  const { seq, files } = row.message
  const lines = linesIn(row.message)
  return (row.first ? 44 : 12) + heightOf(files) + (seq < openFrom && isMany(lines) ? FOLDED_PX : 26 * lines)
}
