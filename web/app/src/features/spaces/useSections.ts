import type { SpaceState } from '@majlis/client'
import { useMe, useSpaces } from '@majlis/client/react'
import { useMemo } from 'react'

import { usePreferences } from './preferences.ts'

export interface SpaceSection {
  title: string
  spaces: readonly SpaceState[]
}

/** The spaces of the sidebar: pinned ones first, then direct conversations, then the others, by their newest message. */
export function useSections(): SpaceSection[] {
  const spaces = useSpaces()
  const { pinned } = usePreferences(useMe()?.id ?? '')
  return useMemo(() => {
    const isPinned = (space: SpaceState) => pinned.includes(space.facts.id)
    const inOrder = spaces.filter(isPinned).toSorted((a, b) => pinned.indexOf(a.facts.id) - pinned.indexOf(b.facts.id))
    const others = spaces.filter((space) => !isPinned(space))
    const all = [
      { title: 'Pinned', spaces: inOrder },
      { title: 'Direct', spaces: others.filter((space) => space.facts.direct) },
      { title: 'Spaces', spaces: others.filter((space) => !space.facts.direct) },
    ]
    return all.filter((section) => section.spaces.length > 0)
  }, [spaces, pinned])
}
