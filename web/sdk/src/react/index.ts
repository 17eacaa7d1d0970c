/** What a client knows, for React. Each hook renders again only when its own part has changed. */
import { createContext, createElement, use, useEffect, useMemo, useRef, useSyncExternalStore, type ReactNode } from 'react'

import type { Me, PendingCall } from '../types.ts'
import type { Stream, WaitingRun, Working } from '../state/activity.ts'
import type { History } from '../state/history.ts'
import type { Draft, Sending } from '../state/outgoing.ts'
import type { SpaceState } from '../state/space.ts'
import type { State } from '../state/state.ts'
import type { Store } from '../store/store.ts'

const TheStore = createContext<Store | null>(null)

export function MajlisProvider({ store, children }: { store: Store; children: ReactNode }) {
  useEffect(() => {
    store.start()
    return () => store.stop()
  }, [store])
  return createElement(TheStore, { value: store }, children)
}

export function useStore(): Store {
  const store = use(TheStore)
  if (!store) throw new Error('Put a MajlisProvider around what uses Majlis.')
  return store
}

/** A part of the state. `same` says when two values of it are alike; by default each entry is compared. */
export function useMajlis<Part>(select: (state: State) => Part, same: (a: Part, b: Part) => boolean = alike): Part {
  const store = useStore()
  const last = useRef<{ part: Part } | null>(null)
  const get = () => {
    const part = select(store.shown())
    if (!last.current || !same(last.current.part, part)) last.current = { part }
    return last.current.part
  }
  return useSyncExternalStore(store.subscribe, get, get)
}

export const useMe = (): Me | null => useMajlis((state) => state.me)
export const useConnection = (): State['connection'] => useMajlis((state) => state.connection)

/** All of one's spaces, those with the newest word first. */
export function useSpaces(): readonly SpaceState[] {
  const spaces = useMajlis((state) => state.spaces)
  return useMemo(() => Object.values(spaces).toSorted((a, b) => latest(b).localeCompare(latest(a))), [spaces])
}

export const useSpace = (id: string): SpaceState | null => useMajlis((state) => state.spaces[id] ?? null)

/** The history of a space, which is loaded when it is first used; null until then. */
export function useMessages(spaceId: string): {
  history: History | null
  sending: readonly Sending[]
  send: (draft: Draft) => void
  loadEarlier: () => Promise<void>
} {
  const store = useStore()
  const history = useMajlis((state) => state.spaces[spaceId]?.history ?? null)
  const sending = useMajlis((state) => state.sending[spaceId] ?? NONE)
  const known = useMajlis((state) => spaceId in state.spaces)
  useEffect(() => (known ? store.loading.watch(spaceId) : undefined), [store, spaceId, known])
  return {
    history,
    sending,
    send: (draft) => store.outbox.send(spaceId, draft),
    loadEarlier: () => store.loading.earlier(spaceId),
  }
}

/** What agents are writing in a space at this moment. */
export const useStreams = (spaceId: string): readonly Stream[] =>
  useMajlis((state) => Object.values(state.agents.streams).filter((stream) => stream.spaceId === spaceId))

/** Who is at work in a space, and who waits for an answer or a decision there. */
export function useRuns(spaceId: string): { working: readonly Working[]; waiting: readonly WaitingRun[] } {
  const working = useMajlis((state) => Object.values(state.agents.working).filter((run) => run.spaceId === spaceId))
  const waiting = useMajlis((state) => Object.values(state.agents.waiting).filter((run) => run.spaceId === spaceId))
  return { working, waiting }
}

/** What agents ask the people of a space at this moment. */
export const usePendingTools = (spaceId: string): readonly PendingCall[] =>
  useMajlis((state) => Object.values(state.agents.pending).filter((call) => call.spaceId === spaceId))

/** The latest word of a tool at work, if it has said one. */
export const useProgress = (callId: string): string | null => useMajlis((state) => state.agents.progress[callId] ?? null)

const latest = (space: SpaceState): string => space.lastMessage?.createdAt ?? space.facts.createdAt

const NONE: readonly never[] = []

function alike(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
  return a.every((each, n) => Object.is(each, b[n]))
}
