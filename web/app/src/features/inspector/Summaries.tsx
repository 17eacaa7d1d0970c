import type { SpaceState } from '@majlis/client'
import { useStore } from '@majlis/client/react'

import { count, t } from '../../language/words.ts'
import { messagePath } from '../../router.ts'
import { Link } from '../../ui/Link.tsx'
import { useQuery } from '../../ui/useQuery.ts'

/** The summaries that agents see in place of older messages. The link leads to the messages, so that both are side by side. */
export function Summaries({ space }: { space: SpaceState }) {
  const { client } = useStore()
  const { data } = useQuery(`summaries ${space.facts.id}`, () => client.spaces.summaries(space.facts.id), String(space.headSeq))
  if (!data || data.summaries.length === 0) return null
  return (
    <section aria-label={t('Summaries')} className="mt-6 space-y-2 border-t border-line pt-4 text-small">
      <h3 className="text-ink-soft">{t('Summaries that agents see')}</h3>
      <ul className="space-y-2">
        {data.summaries.map(({ firstSeq, lastSeq, firstMessageId, text }) => {
          const which = t('Messages {firstSeq}–{lastSeq}', { firstSeq: count(firstSeq), lastSeq: count(lastSeq) })
          return (
            <li key={firstSeq}>
              {firstMessageId ? <Link href={`${messagePath(space.facts.id, firstMessageId)}${location.search}`} className="underline underline-offset-4 hover:text-ink">{which}</Link> : which}
              <p className="break-words text-ink-soft">{text}</p>
            </li>
          )
        })}
      </ul>
    </section>
  )
}
