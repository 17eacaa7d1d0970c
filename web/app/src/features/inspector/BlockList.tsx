import { plural, t } from '../../language/words.ts'
import { dot } from '../../ui/format.ts'
import { diff } from './diff.ts'
import type { Block } from './promptBlocks.ts'

/** The blocks of a prompt, collapsed. With `before` they are compared with the blocks of another prompt. */
export function BlockList({ blocks, before }: { blocks: readonly Block[]; before: readonly Block[] | null }) {
  const removed = before?.filter((each) => blocks.every((block) => block.key !== each.key)) ?? []
  return (
    <ul className="overflow-hidden rounded-md border border-line">
      {blocks.map((block) => (
        <li key={block.key} className="border-b border-line last:border-0">
          <BlockView block={block} before={before && (before.find((each) => each.key === block.key)?.text ?? '')} />
        </li>
      ))}
      {removed.map((block) => <li key={block.key} className="border-b border-line px-3 py-1.5 text-small text-ink-soft line-through last:border-0">{block.title}</li>)}
    </ul>
  )
}

function BlockView({ block, before }: { block: Block; before: string | null }) {
  return (
    <details>
      <summary className="flex cursor-pointer items-baseline gap-2 px-3 py-1.5 text-small hover:bg-hover">
        <span className="truncate font-medium">{block.title}</span>
        {!block.title.endsWith(block.role) && <span className="text-tiny text-ink-soft">{block.role}</span>}
        <span className="ms-auto shrink-0 text-tiny text-ink-soft tabular-nums">{stateOf(block, before)}≈ {plural(block.tokens, '{n} token', '{n} tokens')}</span>
      </summary>
      <pre tabIndex={0} aria-label={block.title} className="max-h-96 overflow-auto border-t border-line p-3 font-mono text-tiny leading-relaxed whitespace-pre-wrap">
        {before === null ? <Shaded block={block} /> : <Compared before={before} after={block.text} />}
      </pre>
    </details>
  )
}

function stateOf(block: Block, before: string | null): string {
  if (before === null) return block.cached === block.text.length && block.cached > 0 ? `${t('cached')}${dot()}` : ''
  if (before === block.text) return `${t('unchanged')}${dot()}`
  return before === '' ? `${t('new')}${dot()}` : `${t('changed')}${dot()}`
}

function Shaded({ block }: { block: Block }) {
  return <>{block.cached > 0 && <span className="bg-agent-low">{block.text.slice(0, block.cached)}</span>}{block.text.slice(block.cached)}</>
}

function Compared({ before, after }: { before: string; after: string }) {
  return diff(before, after).map((line, n) =>
    line.kind === 'same' ? `${line.text}\n` : line.kind === 'added' ? <ins key={n} className="bg-mark no-underline">{`${line.text}\n`}</ins> : <del key={n} className="text-ink-soft line-through">{`${line.text}\n`}</del>,
  )
}
