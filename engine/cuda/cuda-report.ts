/**
 * What CUDA lacks on this machine, found without loading any of it: the provider of onnxruntime, NVIDIA's libraries and
 * the driver, and the commands that install them.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ElfError, readElf } from './elf.ts';
import { LibrarySearch, type LoaderView, ownLoaderView } from './library-search.ts';

/** Files of the CUDA provider, which onnxruntime looks for beside its own; the npm package does not have them. */
export const PROVIDER_FILES = ['libonnxruntime_providers_shared.so', 'libonnxruntime_providers_cuda.so'] as const;

/** Where things are on a machine; tests have one of their own. */
export interface CudaMachine {
  readonly platform: string;
  readonly arch: string;
  /** Of the provider's files, see {@link providerFolder}. */
  readonly folder: string;
  readonly loader: LoaderView;
  /** The driver's own account of itself. */
  readonly driverFile: string;
}

/** What was found. */
export interface CudaReport {
  /** The CUDA version that the provider was built for; null = there is no provider that can be read. */
  readonly major: number | null;
  /** NVIDIA's libraries that the provider needs, by name; null = not found. */
  readonly libraries: Readonly<Record<string, string | null>>;
  /** Version of the kernel's driver; null = not known. */
  readonly driver: string | null;
  /** What is wrong, each in words with the remedy; nothing = CUDA could be used. */
  readonly problems: readonly string[];
}

/** How to get the provider. */
const INSTALL = 'run `npm run gpu:install`';

const CUDA_PROVIDER = PROVIDER_FILES[1];
const DRIVER_LIBRARY = 'libcuda.so.1';
/** Loaded when the first convolution is run, and thus in no list (microsoft/onnxruntime pull request 29252). */
const CUDNN = 'libcudnn.so.9';
const NVIDIA_LIBRARY = /^lib(?:cu|nv)/;
const RUNTIME = /^libcudart\.so\.(\d+)/;

/** The first driver that runs programs of a CUDA version (CUDA release notes, "minor version compatibility"). */
const DRIVER_FOR: ReadonlyMap<number, number> = new Map([
  [12, 525],
  [13, 580],
]);

/** Python packages with the libraries, by the beginning of a library's name; in CUDA 12 each ends in -cu12. */
const PIP_PACKAGES: readonly (readonly [library: string, name: string])[] = [
  ['libcudart.', 'nvidia-cuda-runtime'],
  ['libcublas', 'nvidia-cublas'],
  ['libcurand.', 'nvidia-curand'],
  ['libcufft.', 'nvidia-cufft'],
  ['libcudnn', 'nvidia-cudnn'],
  ['libnvrtc.', 'nvidia-cuda-nvrtc'],
];
/** Versions of CUDA whose Debian packages are named; any of the same first number does. */
const APT_VERSIONS: ReadonlyMap<number, string> = new Map([
  [12, '12-9'],
  [13, '13-0'],
]);

/** The folder of onnxruntime-node that has its library for this machine. */
export function providerFolder(platform: string = process.platform, arch: string = process.arch): string {
  const main = createRequire(import.meta.url).resolve('onnxruntime-node');
  return join(dirname(dirname(main)), 'bin', 'napi-v6', platform, arch);
}

/** This machine. */
export function ownMachine(): CudaMachine {
  const { platform, arch } = process;
  const driverFile = '/proc/driver/nvidia/version';
  return { platform, arch, folder: providerFolder(), loader: ownLoaderView(), driverFile };
}

/** What CUDA lacks on `machine`. @throws errors of the disk */
export function reportCuda(machine: CudaMachine): CudaReport {
  const { platform, arch, folder, loader } = machine;
  const nothing = { major: null, libraries: {}, driver: null };
  if (platform !== 'linux' || arch !== 'x64')
    return { ...nothing, problems: [`CUDA needs linux/x64 and this is ${platform}/${arch}`] };
  const missing = PROVIDER_FILES.filter((name) => !existsSync(join(folder, name)));
  if (missing.length > 0)
    return { ...nothing, problems: [`${missing.join(' and ')} missing in ${folder}: ${INSTALL}`] };
  const file = join(folder, CUDA_PROVIDER);
  try {
    const { needed, runPath } = readElf(file);
    const search = new LibrarySearch(loader);
    const names = [...new Set([...needed.filter((name) => NVIDIA_LIBRARY.test(name)), CUDNN])];
    const libraries = Object.fromEntries(names.map((name) => [name, search.find(name, file, runPath)]));
    const major = majorOf(needed);
    const driver = readDriver(machine.driverFile);
    const problems = [...findMissing(libraries, major), ...findDriverProblem(libraries, driver, major)];
    return { major, libraries, driver, problems };
  } catch (error) {
    if (!(error instanceof ElfError)) throw error;
    return { ...nothing, problems: [`${file} cannot be used: ${error.message}: ${INSTALL} again`] };
  }
}

/** The CUDA version of a library that needs `needed`; null = it needs no CUDA. */
export function majorOf(needed: readonly string[]): number | null {
  const found = needed.map((name) => RUNTIME.exec(name)?.[1]).find((version) => version !== undefined);
  return found === undefined ? null : Number(found);
}

/** How the libraries `names` for CUDA `major` are installed. */
export function installCommands(names: readonly string[], major: number): string {
  const suffix = major < 13 ? `-cu${major}` : '';
  const packages = PIP_PACKAGES.filter(([library]) => names.some((name) => name.startsWith(library))).map(
    ([, name]) => `${name}${name === 'nvidia-cudnn' ? `-cu${major}` : suffix}`,
  );
  const version = APT_VERSIONS.get(major) ?? `${major}-0`;
  const isCudnnOnly = names.every((name) => name.startsWith('libcudnn'));
  const apt = [...(isCudnnOnly ? [] : [`cuda-libraries-${version}`]), `libcudnn9-cuda-${major}`];
  return (
    `\`apt-get install ${apt.join(' ')}\` from NVIDIA's repository, or ` +
    `\`pip install --target /opt/cuda ${packages.join(' ')}\` and start with ` +
    "`LD_LIBRARY_PATH=$(ls -d /opt/cuda/nvidia/*/lib | paste -sd:)`; they come under NVIDIA's terms"
  );
}

function findMissing(libraries: CudaReport['libraries'], major: number | null): string[] {
  const missing = Object.keys(libraries).filter((name) => name !== DRIVER_LIBRARY && libraries[name] === null);
  if (missing.length === 0) return [];
  const remedy = major === null ? INSTALL : installCommands(missing, major);
  return [`${missing.join(', ')} missing${major === null ? '' : ` (CUDA ${major})`}: ${remedy}`];
}

function findDriverProblem(libraries: CudaReport['libraries'], driver: string | null, major: number | null): string[] {
  const wanted = DRIVER_FOR.get(major ?? 0) ?? 0;
  const expected = wanted === 0 ? 'the driver' : `driver ${wanted} or later`;
  if (libraries[DRIVER_LIBRARY] === null)
    return [
      `${DRIVER_LIBRARY} missing${driver === null ? '' : `, though the kernel has driver ${driver}`}: install ` +
        `NVIDIA's ${expected}; in a container, start it with \`--gpus all\``,
    ];
  if (driver === null || Number.parseInt(driver, 10) >= wanted) return [];
  return [`NVIDIA's driver is ${driver}, and CUDA ${major} needs ${expected}: install it`];
}

/** Such as `NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  …`, also of the open kernel modules. */
function readDriver(file: string): string | null {
  if (!existsSync(file)) return null;
  return /Kernel Module\b.*?\s(\d+\.\d+(?:\.\d+)?)\s/.exec(readFileSync(file, 'utf8'))?.[1] ?? null;
}
