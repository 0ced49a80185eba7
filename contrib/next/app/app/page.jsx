import { readdirSync } from 'node:fs';
import Image from 'next/image';

// Every photo of public/photos, each in all widths of deviceSizes and imageSizes that `sizes` asks for.
export default function Page() {
  const names = readdirSync('public/photos').sort();
  return (
    <main>
      {names.map((name) => (
        <div key={name} style={{ position: 'relative', aspectRatio: '3 / 2' }}>
          <Image src={`/photos/${name}`} alt={name} fill sizes="(max-width: 600px) 100vw, 33vw" />
        </div>
      ))}
    </main>
  );
}
