import type { Message } from '@majlis/client'
import { useMajlis, useStore } from '@majlis/client/react'
import { useEffect, useState } from 'react'

import { messagePath } from '../../router.ts'
import { Link } from '../../ui/Link.tsx'
import { plainText } from '../markdown/plainText.ts'

/** Why an agent said this here though it was asked elsewhere. Whoever may not read there is told nothing of it (M14). */
export function Origin({ message }: { message: Message }) {
  const store = useStore()
  const origin = message.origin!
  const place = useMajlis((state) => state.spaces[origin.sourceSpace]?.facts.name ?? null)
  const [asked, setAsked] = useState<Message | null>(null)
  useEffect(() => {
    if (place && origin.sourceEvent) store.client.messages.get(origin.sourceEvent).then(setAsked, () => {})
  }, [store, place, origin.sourceEvent])
  if (!place) return <p className="text-small text-ink-soft italic">sent because of something in another space</p>
  return (
    <p className="truncate text-small text-ink-soft italic">
      sent because {asked ? <>{asked.sender.name} said “{plainText(asked.text).slice(0, 80)}”</> : 'of something'} in{' '}
      <Link href={messagePath(origin.sourceSpace, origin.sourceEvent)} className="underline underline-offset-4 hover:text-ink">{place}</Link>
    </p>
  )
}
