import type { SpaceState, State } from '@majlis/client'
import { useMajlis, useMe, useSpaces } from '@majlis/client/react'
import { useMemo } from 'react'

import { msg } from '../../language/words.ts'
import { usePreferences } from './preferences.ts'

export interface SpaceSection {
  title: 'Waiting for you' | 'Pinned' | 'Direct' | 'Spaces' | 'Archived'
  spaces: readonly SpaceState[]
}

/** The spaces of the sidebar, in sections. A space is in the first one that fits. */
export function useSections(): SpaceSection[] {
  const spaces = useSpaces()
  const me = useMe()?.id ?? ''
  const { pinned, archived, order } = usePreferences(me)
  const waiting = useMajlis((state) => waitingSpaces(state, me)).join(' ')
  return useMemo(() => {
    const sections: SpaceSection[] = []
    let left: readonly SpaceState[] = order === 'name' ? spaces.toSorted((a, b) => a.facts.name.localeCompare(b.facts.name)) : spaces
    const take = (title: SpaceSection['title'], fits: (space: SpaceState) => boolean) => {
      sections.push({ title, spaces: left.filter(fits) })
      left = left.filter((space) => !fits(space))
    }
    take(msg('Archived'), (space) => archived.includes(space.facts.id))
    take(msg('Waiting for you'), (space) => waiting.split(' ').includes(space.facts.id))
    take(msg('Pinned'), (space) => pinned.includes(space.facts.id))
    take(msg('Direct'), (space) => space.facts.direct)
    take(msg('Spaces'), () => true)
    sections.push(sections.shift()!)
    return sections.filter((section) => section.spaces.length > 0)
  }, [spaces, pinned, archived, order, waiting])
}

/** Spaces with a decision, or with a question to the user. */
function waitingSpaces(state: State, me: string): string[] {
  const asked = Object.values(state.agents.waiting).filter((run) => run.for === 'reply' && (run.wait?.from?.includes(me) || state.spaces[run.wait?.spaceId ?? '']?.facts.direct))
  return [...new Set([...Object.values(state.agents.pending).map((call) => call.spaceId), ...asked.map((run) => run.wait?.spaceId ?? run.spaceId)])].toSorted()
}
