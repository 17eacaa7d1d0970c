/** React hooks. A component renders again only when the part of the state that it uses changes. */
import { createContext, createElement, use, useEffect, useMemo, useRef, useSyncExternalStore, type ReactNode } from 'react'

import type { Me, PendingCall } from '../types.ts'
import type { Stream, WaitingRun, WorkingRun } from '../state/activity.ts'
import type { History } from '../state/history.ts'
import type { Draft, OutgoingMessage } from '../state/outgoing.ts'
import type { SpaceState } from '../state/space.ts'
import type { State } from '../state/state.ts'
import type { Store } from '../store/store.ts'

const StoreContext = createContext<Store | null>(null)

export function MajlisProvider({ store, children }: { store: Store; children: ReactNode }) {
  useEffect(() => {
    store.start()
    return () => store.stop()
  }, [store])
  return createElement(StoreContext, { value: store }, children)
}

export function useStore(): Store {
  const store = use(StoreContext)
  if (!store) throw new Error('useStore was called outside of a MajlisProvider. Wrap the component in <MajlisProvider>.')
  return store
}

/** A part of the state. Arrays are equal if their entries are; pass `same` for another comparison. */
export function useMajlis<Part>(select: (state: State) => Part, same: (a: Part, b: Part) => boolean = alike): Part {
  const store = useStore()
  const last = useRef<{ part: Part } | null>(null)
  const get = () => {
    const part = select(store.snapshot())
    if (!last.current || !same(last.current.part, part)) last.current = { part }
    return last.current.part
  }
  return useSyncExternalStore(store.subscribe, get, get)
}

export const useMe = (): Me | null => useMajlis((state) => state.me)
/** The address of a member's picture; null without one. */
export function usePicture(entityId: string): string | null {
  const { client } = useStore()
  return useMajlis((state) => (state.pictures[entityId] ? client.pictureUrl(state.pictures[entityId]) : null))
}
export const useConnection = (): State['connection'] => useMajlis((state) => state.connection)

/** All spaces of the user, ordered by their newest message. */
export function useSpaces(): readonly SpaceState[] {
  const spaces = useMajlis((state) => state.spaces)
  return useMemo(() => Object.values(spaces).toSorted((a, b) => latest(b).localeCompare(latest(a))), [spaces])
}

export const useSpace = (id: string): SpaceState | null => useMajlis((state) => state.spaces[id] ?? null)

/** The history of a space, loaded on first use; null until then. It starts with the newest messages, or with the first unread one. */
export function useMessages(spaceId: string, start: 'newest' | 'unread' = 'newest'): {
  history: History | null
  outgoing: readonly OutgoingMessage[]
  send: (draft: Draft) => void
  loadEarlier: () => Promise<void>
} {
  const store = useStore()
  const history = useMajlis((state) => state.spaces[spaceId]?.history ?? null)
  const outgoing = useMajlis((state) => state.outgoing[spaceId] ?? NONE)
  const known = useMajlis((state) => spaceId in state.spaces)
  useEffect(() => (known ? store.loader.watch(spaceId, start) : undefined), [store, spaceId, known, start])
  return {
    history,
    outgoing,
    send: (draft) => store.outbox.send(spaceId, draft),
    loadEarlier: () => store.loader.earlier(spaceId),
  }
}

/** Messages that agents are writing in a space. */
export const useStreams = (spaceId: string): readonly Stream[] =>
  useMajlis((state) => Object.values(state.agents.streams).filter((stream) => stream.spaceId === spaceId))

/** Runs that are working in a space, and runs that wait there for a reply or a decision. */
export function useRuns(spaceId: string): { working: readonly WorkingRun[]; waiting: readonly WaitingRun[] } {
  const working = useMajlis((state) => Object.values(state.agents.working).filter((run) => run.spaceId === spaceId))
  const waiting = useMajlis((state) => Object.values(state.agents.waiting).filter((run) => run.spaceId === spaceId))
  return { working, waiting }
}

/** Open questions of agents to the people of a space. */
export const usePendingTools = (spaceId: string): readonly PendingCall[] =>
  useMajlis((state) => Object.values(state.agents.pending).filter((call) => call.spaceId === spaceId))

/** True while the person has the app open. Needs `presence` of the store. */
export const useIsOnline = (entityId: string): boolean => useMajlis((state) => state.people.online.has(entityId))

/** When each member of a space was last writing. */
export const useTyping = (spaceId: string): Readonly<Record<string, number>> => useMajlis((state) => state.people.typing[spaceId] ?? NO_TYPING)

/** The latest progress text of a running tool, if any. */
export const useProgress = (callId: string): string | null => useMajlis((state) => state.agents.progress[callId] ?? null)

const latest = (space: SpaceState): string => space.lastMessage?.createdAt ?? space.facts.createdAt

const NONE: readonly never[] = []
const NO_TYPING = {}

function alike(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
  return a.every((each, n) => Object.is(each, b[n]))
}
