import type { Message } from '@majlis/client'
import { useMajlis, useStore } from '@majlis/client/react'
import { useEffect, useState } from 'react'

import { messagePath } from '../../router.ts'
import { Link } from '../../ui/Link.tsx'
import { lineOf } from '../markdown/plainText.ts'

/** Names the message in another space that an agent responds to. Readers without access to that space get no details (M14). */
export function Origin({ message }: { message: Message }) {
  const store = useStore()
  const origin = message.origin!
  const place = useMajlis((state) => state.spaces[origin.sourceSpace]?.facts.name ?? null)
  const [source, setSource] = useState<Message | null>(null)
  useEffect(() => {
    if (place && origin.sourceEvent) store.client.messages.get(origin.sourceEvent).then(setSource, () => {})
  }, [store, place, origin.sourceEvent])
  if (!place) return <p className="text-small text-ink-soft italic">In response to activity in another space</p>
  return (
    <p className="truncate text-small text-ink-soft italic">
      In response to {source ? source.sender.name : 'activity'} in{' '}
      <Link href={messagePath(origin.sourceSpace, origin.sourceEvent)} className="underline underline-offset-4 hover:text-ink">{place}</Link>
      {source && <>: “{lineOf(source).slice(0, 80)}”</>}
    </p>
  )
}
