/**
 * What data means to a recipe, above the data itself.
 */
import { shown } from '../paths.js';
import { counted, sizeInWords } from '../words.js';
import { textOf } from './detect.js';
import { hexText } from './hex.js';
import type { Payload } from './payloads.js';

const ITEMS_SHOWN = 20;
const ITEM_BYTES_SHOWN = 2_000;

export function PayloadView({ payload }: { readonly payload: Payload }) {
  const { title, facts, items = [] } = payload;
  return (
    <section className="payload" aria-label="What it is">
      <p>{title}</p>
      <dl>
        {facts.map(([name, value]) => (
          <div key={name} className="payload-fact">
            <dt>{name}</dt>
            <dd className="code">{shown(value)}</dd>
          </div>
        ))}
      </dl>
      {items.slice(0, ITEMS_SHOWN).map((item, index) => (
        // The items of an entry never change their order.
        // biome-ignore lint/suspicious/noArrayIndexKey: the place is what an item is known by
        <Item key={index} item={item} />
      ))}
      {items.length > ITEMS_SHOWN ? (
        <p className="soft">and {counted(items.length - ITEMS_SHOWN, 'more item')}.</p>
      ) : null}
    </section>
  );
}

function Item({ item }: { readonly item: Uint8Array }) {
  const head = item.subarray(0, ITEM_BYTES_SHOWN);
  const text = textOf(item);
  return (
    <div className="payload-item">
      <span className="faint">{sizeInWords(item.length)}</span>
      <pre>{text === null ? hexText(head) : text.slice(0, ITEM_BYTES_SHOWN)}</pre>
    </div>
  );
}
