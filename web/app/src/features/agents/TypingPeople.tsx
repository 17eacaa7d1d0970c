import type { SpaceState } from '@majlis/client'
import { useMe, useTyping } from '@majlis/client/react'

import { listed, plural } from '../../language/words.ts'
import { useNow } from '../../ui/time.ts'

/** Twice as long as the pause between two messages about it. */
const SHOWN_MS = 6000

/** "Omar is typing" */
export function TypingPeople({ space, className }: { space: SpaceState; className: string }) {
  const typing = useTyping(space.facts.id)
  if (Object.keys(typing).length === 0) return null
  return <Recent typing={typing} space={space} className={className} />
}

function Recent({ typing, space, className }: { typing: Readonly<Record<string, number>>; space: SpaceState; className: string }) {
  const [now, me] = [useNow(), useMe()?.id]
  const names = space.members.filter((member) => member.id !== me && now - (typing[member.id] ?? 0) < SHOWN_MS).map((member) => member.name)
  if (names.length === 0) return null
  const text = plural(names.length, '{names} is typing', names.length > 2 ? '{n} people are typing' : '{names} are typing', { names: listed(names) })
  return <li className={`min-w-0 animate-rise truncate ${className}`}><bdi>{text}</bdi></li>
}
