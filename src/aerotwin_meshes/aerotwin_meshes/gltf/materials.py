# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Materials: base colour texture, its wrapping and its transform, and base colour factor.

Used is the base colour (or the diffuse colour of the older specular-glossiness model, or the
emissive colour where nothing else shows); lighting, gloss, normal maps and transparency are not. A
world is lit by its own description.

References: Khronos glTF 2.0 specification, clauses 3.8 and 3.9, and the extensions
KHR_texture_transform, EXT_texture_webp, KHR_texture_basisu.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aerotwin_meshes.gltf.colours import tinted
from aerotwin_meshes.gltf.document import GltfDocument
from aerotwin_meshes.gltf.images import decode_image
from aerotwin_meshes.gltf.json_element import JsonElement

CLAMP, MIRROR, REPEAT = 33071, 33648, 10497
WHITE = np.ones(3)
_IMAGE_EXTENSIONS = ("EXT_texture_webp", "KHR_texture_basisu")


@dataclass(frozen=True, kw_only=True)
class GltfMaterial:
    """Appearance of a primitive's surface.

    ``factor`` (3,) is the linear base colour, `WHITE` itself where none is stated, already applied
    to ``texture`` (h, w, 3) uint8, in which mirrored wrapping has been written out.
    ``are_clamped``: the texture is clamped along u and v, or else repeats. ``T_uv`` (2, 3) turns
    the stored ``coordinates``-th set into those of the texture.
    """

    factor: np.ndarray
    texture: np.ndarray | None = None
    are_clamped: tuple[bool, bool] = (False, False)
    coordinates: int = 0
    T_uv: np.ndarray = field(default_factory=lambda: np.eye(2, 3))


class Materials:
    """The materials of a document; images are decoded once, equal textures share one array."""

    def __init__(self, document: GltfDocument) -> None:
        self._document = document
        self._materials: dict[int, GltfMaterial] = {}
        self._images: dict[int, np.ndarray] = {}
        self._textures: dict[tuple[Any, ...], np.ndarray] = {}

    def of(self, primitive: JsonElement) -> GltfMaterial:
        """Return the material of a primitive; white without one (clause 3.9.6)."""
        index = primitive.integer("material", None)
        if index is None:
            return GltfMaterial(factor=WHITE)
        if index not in self._materials:
            self._materials[index] = self._read(index, primitive.where)
        return self._materials[index]

    def _read(self, index: int, user: str) -> GltfMaterial:
        entry = self._document.entry("materials", index, user)
        factor, reference = _base_colour(entry)
        if reference is None:
            return GltfMaterial(factor=factor)
        transform = reference.extension("KHR_texture_transform")
        coordinates = reference.integer("texCoord", 0)
        T_uv = np.eye(2, 3)
        if transform is not None:
            coordinates = transform.integer("texCoord", coordinates)
            T_uv = _texture_transform(transform)
        texture = self._document.entry("textures", reference.integer("index"), reference.where)
        wraps = self._wraps(texture)
        mirrored = tuple(wrap == MIRROR for wrap in wraps)
        T_uv = T_uv * np.array([[0.5 if m else 1.0] for m in mirrored])
        return GltfMaterial(
            factor=factor,
            texture=self._texture(self._image_index(texture), factor, mirrored),
            are_clamped=(wraps[0] == CLAMP, wraps[1] == CLAMP),
            coordinates=coordinates,
            T_uv=T_uv,
        )

    def _wraps(self, texture: JsonElement) -> tuple[int, int]:
        index = texture.integer("sampler", None)
        if index is None:
            return REPEAT, REPEAT
        sampler = self._document.entry("samplers", index, texture.where)
        wraps = sampler.integer("wrapS", REPEAT), sampler.integer("wrapT", REPEAT)
        if not {*wraps} <= {CLAMP, MIRROR, REPEAT}:
            raise ValueError(f"{sampler.where}: unknown wrap modes {wraps}")
        return wraps

    def _image_index(self, texture: JsonElement) -> int:
        """Return the image to use: of a WebP extension, else the plain one, else a KTX2 one."""
        webp, basis = (texture.extension(name) for name in _IMAGE_EXTENSIONS)
        source = texture.integer("source", None)
        if webp is not None:
            return webp.integer("source")
        if source is None and basis is not None:
            return basis.integer("source")
        if source is None:
            raise ValueError(f"{texture.where} has no image of a known kind")
        return source

    def _texture(self, image: int, factor: np.ndarray, mirrored: tuple[bool, ...]) -> np.ndarray:
        key = (image, factor.tobytes(), mirrored)
        if key not in self._textures:
            pixels = self._image(image)
            grown = (1 + mirrored[0]) * (1 + mirrored[1]) - np.all(factor == 1.0)
            self._document.budget.reserve_bytes(pixels.nbytes * int(grown), f"gltf.images[{image}]")
            if np.any(factor != 1.0):
                pixels = tinted(pixels, factor)
            if mirrored[0]:
                pixels = np.concatenate([pixels, pixels[:, ::-1]], axis=1)
            if mirrored[1]:
                pixels = np.concatenate([pixels, pixels[::-1]], axis=0)
            self._textures[key] = pixels
        return self._textures[key]

    def _image(self, index: int) -> np.ndarray:
        if index not in self._images:
            document = self._document
            entry = document.entry("images", index, "a texture")
            uri, view = entry.text("uri", None), entry.integer("bufferView", None)
            if uri is not None:
                data: bytes | memoryview = document.referenced(uri, entry.where)
            elif view is not None:
                data = document.view(view, entry.where).data
            else:
                raise ValueError(f"{entry.where} has neither uri nor bufferView")
            self._images[index] = decode_image(data, entry.where, document.budget)
        return self._images[index]


def _base_colour(entry: JsonElement) -> tuple[np.ndarray, JsonElement | None]:
    """Return the colour factor of a material and the reference to its texture, if it has one.

    The emissive colour replaces the reflected one where that is black, or alone has no texture:
    unlit tiles are often written so.
    """
    old = entry.extension("KHR_materials_pbrSpecularGlossiness")
    surface = entry.element("pbrMetallicRoughness") if old is None else old
    names = ("baseColorFactor", "baseColorTexture")
    if old is not None:
        names = ("diffuseFactor", "diffuseTexture")
    factor, reference = WHITE, None
    if surface is not None:
        if names[0] in surface.values:
            factor = np.clip(surface.numbers(names[0], 4)[:3], 0.0, 1.0)
        reference = surface.element(names[1])
    glow, glow_texture = entry.numbers("emissiveFactor", 3, [0.0] * 3), None
    if glow.any():
        glow_texture = entry.element("emissiveTexture")
        if not factor.any() or (reference is None and glow_texture is not None):
            factor, reference = np.clip(glow, 0.0, 1.0), glow_texture
    return factor, reference


def _texture_transform(transform: JsonElement) -> np.ndarray:
    """Return translation x rotation x scale, as KHR_texture_transform multiplies them."""
    angle = transform.number("rotation", 0.0)
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    T = np.empty((2, 3))
    T[:, :2] = turn * transform.numbers("scale", 2, [1.0, 1.0])
    T[:, 2] = transform.numbers("offset", 2, [0.0, 0.0])
    return T
